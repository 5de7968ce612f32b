/** JSON values as JSON Schema compares them (Core, section 4.2.2): numbers by value, objects whatever their order. */
import { isObject } from "../protocol/jsonrpc.js";

export function equals(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => equals(item, right[index]))
    );
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equals(left[key], right[key]))
  );
}

/** A text that is the same for values that are equal, and for no others. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(Object.is(value, -0) ? 0 : value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

/** Whether a number is a multiple of another, in the decimals they are written in rather than in binary. */
export function isMultiple(value: number, divisor: number): boolean {
  if (!(divisor > 0)) return true;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const common = Math.min(exponent, divisorExponent);
  return (digits * power(exponent - common)) % (divisorDigits * power(divisorExponent - common)) === 0n;
}

/** A finite number as `digits * 10 ** exponent`. */
function decimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

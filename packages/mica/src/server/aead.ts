/** AES-256-GCM (NIST SP 800-38D): by node:crypto where it is there (some twenty times faster), by Web Crypto elsewhere. */

/** Seals and opens with one key. A box is nonce (12 bytes), ciphertext, tag (16 bytes). */
export interface Aead {
  seal(plaintext: Uint8Array, associated: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** undefined where the box or the associated data is not what was sealed. */
  open(box: Uint8Array, associated: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

const NONCE = 12;
const TAG = 16;

/** @param key 32 bytes */
export async function createAead(key: Uint8Array): Promise<Aead> {
  const node = globalThis.process?.getBuiltinModule?.("node:crypto");
  return node === undefined ? webAead(key) : nodeAead(node, key);
}

function nodeAead(node: typeof import("node:crypto"), bytes: Uint8Array): Aead {
  const key = node.createSecretKey(bytes);
  const options = { authTagLength: TAG };
  // Asked of the system for many nonces at once; each part is used for one.
  const random = Buffer.alloc(NONCE * 256);
  let used = random.length;
  return {
    seal(plaintext, associated) {
      if (used === random.length) {
        node.randomFillSync(random);
        used = 0;
      }
      const box = Buffer.allocUnsafe(NONCE + plaintext.length + TAG);
      random.copy(box, 0, used, used + NONCE);
      random.fill(0, used, used + NONCE);
      used += NONCE;
      const cipher = node.createCipheriv("aes-256-gcm", key, box.subarray(0, NONCE), options);
      cipher.setAAD(associated);
      box.set(cipher.update(plaintext), NONCE);
      cipher.final();
      box.set(cipher.getAuthTag(), NONCE + plaintext.length);
      return box;
    },
    open(box, associated) {
      if (box.length < NONCE + TAG) return undefined;
      const decipher = node.createDecipheriv("aes-256-gcm", key, box.subarray(0, NONCE), options);
      decipher.setAAD(associated);
      decipher.setAuthTag(box.subarray(box.length - TAG));
      // GCM has no blocks to fill: all of it comes at once. Nothing of it counts before the tag was compared.
      const plaintext = decipher.update(box.subarray(NONCE, box.length - TAG));
      try {
        decipher.final();
        return plaintext;
      } catch {
        return undefined;
      }
    },
  };
}

/** The same boxes, for runtimes without node:crypto. */
export async function webAead(key: Uint8Array): Promise<Aead> {
  const imported = await crypto.subtle.importKey("raw", own(key), "AES-GCM", false, ["encrypt", "decrypt"]);
  return {
    async seal(plaintext, associated) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE));
      const parameters = { name: "AES-GCM", iv: nonce, additionalData: own(associated), tagLength: TAG * 8 };
      const sealed = new Uint8Array(await crypto.subtle.encrypt(parameters, imported, own(plaintext)));
      const box = new Uint8Array(NONCE + sealed.length);
      box.set(nonce);
      box.set(sealed, NONCE);
      return box;
    },
    async open(box, associated) {
      if (box.length < NONCE + TAG) return undefined;
      const parameters = {
        name: "AES-GCM",
        iv: own(box.subarray(0, NONCE)),
        additionalData: own(associated),
        tagLength: TAG * 8,
      };
      try {
        return new Uint8Array(await crypto.subtle.decrypt(parameters, imported, own(box.subarray(NONCE))));
      } catch {
        return undefined;
      }
    },
  };
}

/** Web Crypto takes bytes over plain array buffers only. */
function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** The failure of whatever output goes to: a pipe, a file, a full disk. */

/** Output that could not be written; what produced it has happened all the same. */
export class OutputError extends Error {
  override readonly name = "OutputError";
}

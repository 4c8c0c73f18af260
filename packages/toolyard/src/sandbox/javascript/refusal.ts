/** Thrown inside the sandbox when the host denies an operation; the text is the exception message. */
export class HostRefusal extends Error {
  override readonly name = "Refusal";
}

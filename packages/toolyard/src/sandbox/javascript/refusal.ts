/** The host says no to the code inside, which gets an exception with these words. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

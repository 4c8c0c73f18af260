/**
 * Runs `work`. If it throws, other work continues, and the exception is thrown again by `process.nextTick`, as for a
 * listener of an EventTarget.
 */
export function runApart(work: () => void): void {
  try {
    work();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/**
 * Runs `work`. An exception is thrown separately afterwards, as an EventTarget does for a listener, so that other work
 * continues.
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

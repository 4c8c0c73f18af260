/**
 * Runs `work` so that its fault stops nobody else: it is thrown by itself afterwards, as an EventTarget does with a
 * listener's.
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

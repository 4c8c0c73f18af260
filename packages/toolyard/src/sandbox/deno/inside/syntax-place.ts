/**
 * Returns line and column of a syntax error. V8 reports them for modules only, so the text is parsed as a module with
 * an invalid end, which is never executed.
 */
export async function locateSyntaxError(code: string): Promise<string | undefined> {
  const url = URL.createObjectURL(new Blob([`${code}\n)`], { type: "text/javascript" }));
  try {
    await import(url);
    return undefined;
  } catch (error) {
    const match =
      /:(\d+):(\d+)\)?$/u.exec((error as Error).message) ?? /:(\d+):(\d+)\)?$/mu.exec(String((error as Error).stack));
    return match ? `${match[1]}:${match[2]}` : undefined;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/**
 * Line and column of a syntax error. V8 tells them of modules only: the text is read as one, under a name that has no
 * file, with an end that no text can have, so that nothing of it is ever run.
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

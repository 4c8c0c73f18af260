/** Returns the command that signs in to a source. */
export function loginCommand(source: string): string {
  return `toolyard login ${/^[\w.-]+$/.test(source) ? source : JSON.stringify(source)}`;
}

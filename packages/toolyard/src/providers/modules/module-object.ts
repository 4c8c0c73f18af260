/** A JSON object of a caller. */
export type ModuleObject = { readonly [key: string]: unknown };

/** A JSON object that a caller or a module supplies. */
export type ModuleObject = { readonly [key: string]: unknown };

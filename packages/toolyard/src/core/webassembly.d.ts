/** The part of WebAssembly that is used; TypeScript's library for Node does not declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: object): { readonly name: string; readonly kind: string }[];
    static imports(module: object): { readonly module: string; readonly name: string; readonly kind: string }[];
  }
  class Memory {
    constructor(descriptor: { readonly initial: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Global {
    value: number;
  }
  class Instance {
    constructor(module: object, imports?: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  class RuntimeError extends Error {}
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: object, imports?: Record<string, Record<string, unknown>>): Promise<Instance>;
}

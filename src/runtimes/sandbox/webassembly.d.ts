/**
 * What the sandbox uses of the global `WebAssembly`: this package is compiled without the browser's library, where TypeScript keeps it.
 */
declare namespace WebAssembly {
  /** Compiled code; may be posted to worker threads, which then share it. */
  interface Module {
    readonly "~module"?: never;
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }
  const Module: new (bytes: Uint8Array) => Module;
  const Memory: new (bounds: { readonly initial: number; readonly maximum?: number }) => Memory;
  const Instance: new (module: Module, imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>) => Instance;
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Promise<Instance>;
}

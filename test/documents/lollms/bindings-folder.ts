import { afterEach, beforeEach, vi } from "vitest";
import { ToolFolder } from "../../support/tool-folder.ts";

export interface BindingsFolder {
  readonly path: string;
  write(place: string, text: string): string;
  /** Closes the binding after the test. */
  readonly kept: <T extends AsyncDisposable>(binding: T) => T;
}

/** Creates a folder and a home for each test of bindings; closes everything at the end. */
export function bindingsFolder(): BindingsFolder {
  let folder: ToolFolder;
  const open: AsyncDisposable[] = [];
  beforeEach(() => {
    folder = new ToolFolder();
    vi.stubEnv("TOOLYARD_HOME", `${folder.path}/home`);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one[Symbol.asyncDispose]()));
    vi.unstubAllEnvs();
    folder[Symbol.dispose]();
  });
  return {
    get path() {
      return folder.path;
    },
    write: (place, text) => folder.write(place, text),
    kept: (binding) => {
      open.push(binding);
      return binding;
    },
  };
}

export declare const everything: string;
export declare function emptyYard(folder: string): string;
export declare function stdioYard(folder: string, count: number): string;
export declare function scriptsYard(folder: string, count: number): { readonly config: string; readonly tools: string };
export declare function modulesYard(folder: string, count: number): string;
export declare function kindsYard(folder: string, remoteUrl: string): string;
export declare function askingYard(folder: string): string;
export declare function runtimesYard(
  folder: string,
  hasBwrap: boolean,
): {
  readonly config: string;
  readonly tools: readonly { readonly name: string; readonly what: string; readonly isWarm: boolean }[];
};

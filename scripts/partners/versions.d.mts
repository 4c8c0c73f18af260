export declare function isAtLeast(found: string, wanted: string): boolean;
export declare function lackOf(
  toolchain: { readonly command: string; readonly wanted: string },
  said: string | undefined,
): string | undefined;

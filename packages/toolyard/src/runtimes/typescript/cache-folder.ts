let folder: string | undefined;

/**
 * Where this process and the children it starts keep transformed files, so that an unchanged file needs no transformer:
 * that saves its 40 ms in every start. Unset: nowhere.
 */
export function useTransformCache(path: string): void {
  folder = path;
}

export function transformCacheFolder(): string | undefined {
  return folder;
}

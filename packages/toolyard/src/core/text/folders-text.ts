const MAX_LISTED = 2;

/** Formats a list of folders for users: the first ones, and the number of further ones. */
export function foldersText(folders: readonly string[]): string {
  const more = folders.length - MAX_LISTED;
  return `${folders.slice(0, MAX_LISTED).join(", ")}${more > 0 ? ` (and ${more} more that belong to it)` : ""}`;
}

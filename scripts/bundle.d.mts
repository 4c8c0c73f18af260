export const BUNDLED: ReadonlySet<string>;

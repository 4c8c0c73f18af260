import { createRequire } from "node:module";

interface Manifest {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The sentence for a package that was left out (`npm install --omit=optional`), with the command that installs it. */
export function missingPackage(name: string, purpose: string): string {
  const manifest = createRequire(import.meta.url)("toolyard/package.json") as Manifest;
  const version = manifest.optionalDependencies?.[name];
  const command = `npm install ${name}${version === undefined ? "" : `@${version}`}`;
  return `The optional package \`${name}\` is not installed, which ${purpose} needs: \`${command}\`.`;
}

import { createRequire } from "node:module";
import { PictureError } from "./picture-error.ts";

/** What is told of a package that was left out (`npm install --omit=optional`), with the command that installs it. */
export function missingPackage(name: string, purpose: string, cause: unknown): PictureError {
  const manifest = createRequire(import.meta.url)("toolyard/package.json") as Manifest;
  const version = manifest.optionalDependencies?.[name];
  const command = `npm install ${name}${version === undefined ? "" : `@${version}`}`;
  return new PictureError(
    `The optional package \`${name}\` is not installed, which ${purpose} needs: \`${command}\`.`,
    {
      cause,
    },
  );
}

interface Manifest {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

import { installHooks } from "./install-hooks.ts";

// Entry point for children: `node --import <this file>?cache=<folder> script.ts`.
installHooks(new URL(import.meta.url).searchParams.get("cache") ?? undefined);

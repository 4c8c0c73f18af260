import { installHooks } from "./install-hooks.ts";

// For children: `node --import <this file> script.ts`.
installHooks();

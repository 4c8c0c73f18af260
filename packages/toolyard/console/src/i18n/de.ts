import { EN } from "./en.ts";
import type { Texts } from "./texts.ts";

export const DE: Texts = { ...EN };

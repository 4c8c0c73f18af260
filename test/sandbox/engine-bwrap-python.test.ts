import { engineSuite } from "./engine-suite.ts";

await engineSuite("bwrap-python");

// Every page of the guide. `npm test` runs the pages that changed: changed-blocks.test.ts.
import { GUIDE, testBlocks } from "./page-blocks.ts";

testBlocks(GUIDE);

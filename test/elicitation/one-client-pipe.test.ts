import { describeOneClient } from "./one-client.ts";

for (const era of ["legacy", "modern"] as const) describeOneClient({ era, door: "stdio" });

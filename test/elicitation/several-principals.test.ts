import { describeSeveralPrincipals } from "./several-principals.ts";

for (const era of ["legacy", "modern"] as const) describeSeveralPrincipals({ era, door: "HTTP" });

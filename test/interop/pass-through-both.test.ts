import { describePassThrough, pairingsOfBoth } from "./pass-through.ts";

for (const pairing of pairingsOfBoth()) describePassThrough(pairing);

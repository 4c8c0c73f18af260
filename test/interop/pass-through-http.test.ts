import { describePassThrough, pairingsOf } from "./pass-through.ts";

for (const pairing of pairingsOf("HTTP")) describePassThrough(pairing);

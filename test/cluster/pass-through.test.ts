// Everything that a hub passes on, through HAProxy and three hubs: each request of a session or call arrives at another
// hub.
import { describePassThrough, pairingsOf } from "../interop/pass-through.ts";
import { HAS_BALANCER } from "./served-hubs.ts";

// A server on stdio is a process for each hub. `CLUSTER_PAIRINGS=all` adds servers of the other era, for which the hub
// translates as without other hubs.
const PAIRINGS = pairingsOf("hubs").filter(
  ({ transport, client, upstream }) =>
    transport === "HTTP" && (client === upstream || process.env["CLUSTER_PAIRINGS"] === "all"),
);

for (const pairing of PAIRINGS) describePassThrough(pairing, HAS_BALANCER);

// CPU and time, in ms, for the first text that a process reads: `gnn-fresh.mjs FILE`.
import { readFileSync } from "node:fs";
import { checkGnn } from "../../packages/gnn/dist/index.js";

const text = readFileSync(process.argv[2], "utf8");
const [before, began] = [process.cpuUsage(), performance.now()];
checkGnn(text);
const wall = performance.now() - began;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpu: (user + system) / 1000, wall }));

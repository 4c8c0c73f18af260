// Runs a constant amount of work on one core, which takes less than a second. Prints the elapsed time and the time on
// the core.
const ROUNDS = 600_000_000;
const startedAt = performance.now();
const used = process.cpuUsage();
let value = 1;
for (let round = 0; round < ROUNDS; round += 1) value = (Math.imul(value, 1_103_515_245) + 12_345) | 0;
const { user, system } = process.cpuUsage(used);
console.log(
  JSON.stringify({
    value,
    wallMs: Math.round(performance.now() - startedAt),
    cpuMs: Math.round((user + system) / 1000),
  }),
);

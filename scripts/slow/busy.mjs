// Keeps one core busy until its parent has ended.
const SLICE_MS = 50;
process.once("disconnect", () => process.exit(0));
const spin = () => {
  const until = performance.now() + SLICE_MS;
  while (performance.now() < until);
  setImmediate(spin);
};
spin();

/** Limits of one simulation. */
export const SIMULATION_LIMITS = {
  steps: 1000,
  policyLength: 8,
  policies: 65_536,
  /** Maximum number of operations of all steps, counted as in `programCosts`. */
  operations: 2_000_000_000,
  /** Maximum number of numbers in a result. */
  numbers: 500_000,
} as const;

/** Limits of the models from which programs are made. */
export const PROGRAM_LIMITS = {
  /** Maximum number of numbers in all tensors, including defaults. */
  numbers: 1_000_000,
  factors: 16,
  modalities: 32,
  agents: 64,
  /** Maximum number of steps in the window of message passing. */
  window: 64,
  /** Maximum number of steps of the lowest level for one step of the highest level. */
  period: 1_000_000,
} as const;

/** Bounds of the models that programs are made of. */
export const PROGRAM_LIMITS = {
  /** Numbers of all tensors together, including defaults. */
  numbers: 1_000_000,
  factors: 16,
  modalities: 32,
  agents: 64,
  /** Steps that messages pass over. */
  window: 64,
  /** Steps of the lowest level for one of the highest. */
  period: 1_000_000,
} as const;

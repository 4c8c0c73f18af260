import { ProgramError } from "./program-error.ts";

interface PlanOptions {
  readonly policyLength: number;
  readonly gamma?: number | undefined;
}

/** Checks policy length and precision. Throws a `ProgramError` if one is invalid. */
export function expectPlanning({ policyLength, gamma }: PlanOptions): void {
  expectWhole("policyLength", policyLength, 1);
  if (gamma === undefined || (Number.isFinite(gamma) && gamma >= 0)) return;
  throw new ProgramError("gamma", `gamma must be a number of at least 0, got ${gamma}.`);
}

export function expectWhole(name: string, number: number, lowest: number): void {
  if (Number.isSafeInteger(number) && number >= lowest) return;
  throw new ProgramError(name, `${name} must be a whole number of at least ${lowest}, got ${number}.`);
}

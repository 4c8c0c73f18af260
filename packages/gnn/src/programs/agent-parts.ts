import type { Neighbours } from "./neighbours.ts";
import type { Numbers } from "./numbers.ts";
import type { Letter, Part } from "./parts.ts";
import type { StatedOrders } from "../settings/orders.ts";

/** Tensors of one agent by letter, each in the order of its modalities or factors. */
export interface AgentParts {
  readonly instance: string;
  of(letter: Letter, index: number): Part | undefined;
  counts(letter: Letter, index: number): Part | undefined;
  /** Returns the number of modalities or factors of these letters. */
  size(...letters: readonly Letter[]): number;
}

/** Source of an agent's tensors. */
export interface AgentSource {
  readonly neighbours: Neighbours;
  readonly numbers: Numbers;
  /** Index orders that the model states. */
  readonly orders: StatedOrders;
  /** Collects notes about how the model was read. */
  readonly notes: string[];
  /** Precision of the agent's likelihoods. */
  readonly omega: number;
}

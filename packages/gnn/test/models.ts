import { readFileSync } from "node:fs";

/** One small model of each family. The tests run the rendered programs with their libraries. */
export const TWO_ROOM = modelOf("two_room");
export const TWO_FACTORS = modelOf("two_factors");
export const TWO_AGENTS = modelOf("two_agents");
export const TWO_LEVELS = modelOf("two_levels");
export const LEARNING = modelOf("learning");
export const COUPLED = modelOf("coupled");
export const MESSAGES = modelOf("messages");
export const LINEAR = modelOf("linear");
export const TALL = modelOf("tall");

function modelOf(name: string): string {
  return readFileSync(new URL(`../../../test/fixtures/gnn/families/${name}.md`, import.meta.url), "utf8");
}

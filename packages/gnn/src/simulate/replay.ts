import type { DiscreteProgram } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";

export type ReplayRows = readonly (readonly number[])[];

/** Rows of the only agent or of the lowest level. For several agents or levels, rows by name. */
export type Replay = ReplayRows | Readonly<Record<string, ReplayRows>>;

/** Observations and actions that replace those of a run. */
interface Replays {
  readonly observations?: Replay | undefined;
  readonly actions?: Replay | undefined;
}

/** Rows of one agent. */
export interface AgentReplay {
  readonly observations?: ReplayRows;
  readonly actions?: ReplayRows;
}

/** Returns the number of steps for which a replay has rows; undefined without a replay. */
export function replayedSteps({ observations, actions }: Replays): number | undefined {
  const lengths = [observations ?? actions].flatMap((replay) =>
    replay === undefined ? [] : isRows(replay) ? [replay.length] : Object.values(replay).map(({ length }) => length),
  );
  return lengths.length === 0 ? undefined : Math.min(...lengths);
}

function isRows(replay: Replay): replay is ReplayRows {
  return Array.isArray(replay);
}

/** Returns the rows of each agent. Throws a `ProgramError` if they do not fit the model. */
export function replaysOf(program: DiscreteProgram, replays: Replays, steps: number): readonly AgentReplay[] {
  const observations = byAgent(program, "observations", replays.observations);
  const actions = byAgent(program, "actions", replays.actions);
  const turns = turnsOf(program, steps);
  return program.agents.map(({ name, modalities, factors }, index) => {
    const [seen, taken] = [observations.get(name), actions.get(name)];
    const place = name === "" ? "" : ` of ${name}`;
    if (seen && program.arrangement === "levels" && index > 0)
      throw new ProgramError(
        name,
        `${name} observes ${program.agents[index - 1]!.name}, so its observations cannot be replayed. ` +
          `Replay those of ${program.agents[0]!.name}.`,
      );
    const outcomes = modalities.map((modality) => ({ name: modality.name, count: modality.outcomes }));
    const choices = factors.map((factor) => ({ name: factor.name, count: factor.actions }));
    if (seen) expectRows(`observations${place}`, { rows: seen, columns: outcomes, steps: turns[index]! });
    if (taken) expectRows(`actions${place}`, { rows: taken, columns: choices, steps: turns[index]! });
    return { ...(seen ? { observations: seen } : {}), ...(taken ? { actions: taken } : {}) };
  });
}

/** Returns the number of turns of each agent. A level has a turn at the end of each of its periods. */
function turnsOf({ arrangement, agents, ratios }: DiscreteProgram, steps: number): readonly number[] {
  if (arrangement !== "levels") return agents.map(() => steps);
  return agents.map((_, level) =>
    Math.floor(steps / ratios.slice(0, level).reduce((product, ratio) => product * ratio, 1)),
  );
}

function byAgent(
  { agents, arrangement }: DiscreteProgram,
  subject: string,
  replay: Replay | undefined,
): Map<string, ReplayRows> {
  if (replay === undefined) return new Map();
  const names = agents.map(({ name }) => name);
  if (isRows(replay)) {
    if (arrangement !== "agents" || agents.length === 1) return new Map([[names[0]!, replay]]);
    throw new ProgramError(
      subject,
      `The model has several agents. Give their ${subject} by name: ` +
        `{${names.map((name) => `"${name}": […]`).join(", ")}}.`,
    );
  }
  const unknown = Object.keys(replay).find((name) => !names.includes(name));
  if (unknown === undefined) return new Map(Object.entries(replay));
  throw new ProgramError(
    subject,
    arrangement === "single"
      ? `The model has one agent. Give its ${subject} as a list of rows.`
      : `The model has no agent ${JSON.stringify(unknown)}. Give ${subject} of ${names.join(", ")}.`,
  );
}

interface ReplayTable {
  readonly rows: ReplayRows;
  readonly columns: readonly { readonly name: string; readonly count: number }[];
  readonly steps: number;
}

function expectRows(what: string, { rows, columns, steps }: ReplayTable): void {
  if (rows.length < steps)
    throw new ProgramError(what, `There are ${rows.length} ${what} for ${steps} steps; give one for each.`);
  for (const [step, row] of rows.entries())
    for (const [index, { name, count }] of columns.entries()) {
      const value = row[index];
      if (row.length === columns.length && Number.isInteger(value) && value! >= 0 && value! < count) continue;
      throw new ProgramError(
        what,
        `Step ${step} of ${what} is [${row.join(", ")}]; it must have ${columns.length} whole numbers, that for ` +
          `${name} from 0 to ${count - 1}.`,
      );
    }
}

// The cost of `tool_search` answers, and of whole tasks, for a model.
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { executeTool } from "../../packages/toolyard/build/providers/builtin/execute-tool.js";
import { searchTexts } from "../../packages/toolyard/build/providers/builtin/search-texts.js";
import { toolSearch } from "../../packages/toolyard/build/providers/builtin/tool-search.js";

/** Maximum tokens of an answer on average, counted as o200k. */
const TOKEN_GOALS = { default: 950, brief: 600 };
/** Same for a whole task with this many steps: the list in discovery mode, and a search and a call for each step. */
const TASK_GOAL = 3500;
const STEPS = 3;
/** Source of the benchmark's queries that are typical steps of a task. */
const STEP_SOURCE = "livemcp-step";
const RESULT = "Done: 1 entry was changed.";

/** Returns the tokens of `tool_search` answers, and how often these contain the right tool. */
export function tellTokens({ answer, idOf }, asked) {
  const shape = { count: 5, detail: "full", isWhole: false, isList: false };
  const sums = { default: 0, brief: 0 };
  const recalls = {};
  for (const query of asked) {
    const found = answer(query.query, 25);
    const texts = searchTexts(found, shape);
    sums.default += count(texts.join("\n"));
    const brief = searchTexts(answer(query.query, 40), { ...shape, count: 20, detail: "brief" });
    sums.brief += count(brief.join("\n"));
    const named = new Set(found.hits.filter(({ name }) => texts.some((text) => text.includes(name))).map(idOf));
    const isNamed = (id) => [id, ...(query.alt?.[id] ?? [])].some((one) => named.has(one));
    (recalls[query.source] ??= []).push(query.gold.filter(isNamed).length / query.gold.length);
  }
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  for (const [name, goal] of Object.entries(TOKEN_GOALS))
    console.log(`tokens of an answer, ${name}: ${(sums[name] / asked.length).toFixed(0)} (goal ${goal})`);
  const recall = 100 * mean(Object.values(recalls).map(mean));
  console.log(`recall of the whole default answer, macro: ${recall.toFixed(1)} (goal 79.2)`);
}

/**
 * Returns the tokens of tasks in discovery mode, as the model writes and reads them; each tool has one short argument.
 */
export function tellTasks({ answer }, asked) {
  const list = discoveryTools().map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const shape = { count: 5, detail: "full", isWhole: false, isList: false };
  const costs = asked
    .filter(({ source }) => source === STEP_SOURCE)
    .map(({ query }) => {
      const found = answer(query, 25);
      const call = { name: found.hits[0].name, arguments: { value: "the argument of this step" } };
      return (
        count(JSON.stringify({ query })) + count(searchTexts(found, shape).join("\n")) + count(JSON.stringify(call))
      );
    });
  const step = costs.reduce((sum, one) => sum + one, 0) / costs.length + count(RESULT);
  const task = count(JSON.stringify(list)) + STEPS * step;
  console.log(`tokens of a task of ${STEPS} searches and calls: ${task.toFixed(0)} (goal ${TASK_GOAL})`);
}

function count(text) {
  return encode(text).length;
}

/** Returns the two tools that discovery mode lists. */
function discoveryTools() {
  const source = { id: "builtin", kind: "builtin", namespace: "", order: 0 };
  return [toolSearch(source, {}), executeTool(source, {})].map(({ record }) => record.definition);
}

import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { DATA_FOLDERS, GET_HUB, LOGGER, TASKS as TASKS_SERVICE } from "../../core/services.ts";
import { TRACING } from "../../core/ports/tracing.ts";
import { defineFeature } from "../../kernel/feature.ts";
import { STATE } from "../../state/ports/store.ts";
import { LateTasks } from "./late-tasks.ts";
import { resolveTasks, TASK_SECTIONS, type TaskOptions, type TaskReads, type TasksConfig } from "./options.ts";
import type { TaskJournal } from "./task-journal.ts";
import type { TaskTableDeps } from "./task-table.ts";

/** Feature: calls that continue after their request ended, and can be read later. */
export const TASKS = defineFeature({
  name: "tasks",
  schema: TASK_SECTIONS,
  uses: [DATA_FOLDERS, GET_HUB, LOGGER, STATE, TRACING],
  provides: [TASKS_SERVICE],
  check: ({ tasks }: TaskReads) => void resolveTasks(tasks),
  start: (
    { dataFolders: { tasks: folder }, getHub, logger, state: { queues, limits }, tracing },
    config: () => TaskReads,
  ) => {
    const options = liveOptions(config);
    const tasks = new LateTasks({
      options,
      isShared: queues !== undefined,
      findSubject: (tool) => getHub().tools.subjectOf(tool, LOCAL_PRINCIPAL),
      load: async (changed) => {
        const { TaskTable, DetachedRun } = await import("./task-parts.ts");
        const deps: Omit<TaskTableDeps, "openJournal"> = {
          options,
          logger,
          changed,
          tracing,
          run: (call) => new DetachedRun(getHub().port, call, tracing),
        };
        if (queues)
          return new (await import("./shared/shared-tasks.ts")).SharedTasks({ ...deps, queues, limits, importBullmq });
        const openFile = () => (folder === undefined ? undefined : openJournal(folder, getHub().folder));
        return new TaskTable({ ...deps, openJournal: openFile });
      },
    });
    return {
      stages: [{ after: "validate", load: async () => (await import("./task-stage.ts")).taskStage(options) }],
      services: { tasks },
      close: () => tasks.close(),
    };
  },
});

async function importBullmq(): Promise<unknown> {
  return (await import("../../extras/import-extra.ts")).importExtra("redis", "bullmq", { purpose: "`[store]`" });
}

/** Returns the options of the current configuration. They are read again when the configuration changes. */
function liveOptions(config: () => TaskReads): () => TaskOptions {
  let known: { readonly from: TasksConfig | undefined; readonly options: TaskOptions } | undefined;
  return () => {
    const { tasks } = config();
    if (!known || known.from !== tasks) known = { from: tasks, options: resolveTasks(tasks) };
    return known.options;
  };
}

/** Opens the journal. It is loaded for the first task, because most hubs have none. */
async function openJournal(folder: string, place: string): ReturnType<typeof TaskJournal.open> {
  return (await import("./task-journal.ts")).TaskJournal.open(folder, place);
}

export { DetachedRun } from "./detached-run.ts";
export { TaskTable } from "./task-table.ts";

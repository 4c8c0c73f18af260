import api from "./index.cjs";

export const {
  ToolError,
  callTool,
  callToolResult,
  executeCode,
  executeTool,
  generateImage,
  generateText,
  get,
  getArguments,
  getSignal,
  listTools,
  logger,
  progress,
  returnError,
  returnObject,
  returnString,
  searchTools,
  toolSearch,
  tools,
} = api;

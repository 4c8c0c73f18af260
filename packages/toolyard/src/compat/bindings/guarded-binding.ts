import { messageOf } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { implementsMethod, type LollmsMCPBinding, type ToolDefinition, type ToolResult } from "./binding.ts";

type BindingMethod = (...args: unknown[]) => unknown;

/**
 * Enforces the contract on an untrusted binding: errors and malformed results become an empty list or `{error,
 * status_code: 500}`, in both spellings of its methods. Calls `onProblem` with the problem.
 */
export function guardBinding(binding: LollmsMCPBinding, onProblem: (message: string) => void): LollmsMCPBinding {
  const discover = methodOf(binding, "discoverTools", "discover_tools");
  const execute = methodOf(binding, "executeTool", "execute_tool");
  const guardedDiscover = async (...args: unknown[]): Promise<readonly ToolDefinition[]> => {
    try {
      const tools: unknown = await discover(...args);
      if (Array.isArray(tools)) return tools as readonly ToolDefinition[];
      onProblem(`returned ${nameOf(tools)} instead of a list of tools`);
    } catch (error) {
      onProblem(`failed to discover its tools: ${messageOf(error)}`);
    }
    return [];
  };
  const guardedExecute = async (...args: unknown[]): Promise<ToolResult> => {
    try {
      const result: unknown = await execute(...args);
      if (isJsonObject(result) && ("output" in result || typeof result["error"] === "string"))
        return result as unknown as ToolResult;
      const message = `returned ${nameOf(result)} instead of {output, status_code} or {error, status_code}`;
      onProblem(message);
      return { error: `Tool execution failed: the binding ${message}`, status_code: 500 };
    } catch (error) {
      onProblem(`failed to execute a tool: ${messageOf(error)}`);
      return { error: `Tool execution failed: ${messageOf(error)}`, status_code: 500 };
    }
  };
  const guards = { discoverTools: guardedDiscover, executeTool: guardedExecute };
  const spelt = { ...guards, discover_tools: guardedDiscover, execute_tool: guardedExecute };
  for (const [name, value] of Object.entries(spelt))
    if (Object.isExtensible(binding))
      Object.defineProperty(binding, name, { value, configurable: true, writable: true });
  return binding;
}

/** Returns the spelling that the class implements. The base class's other spelling then calls the guarded method. */
function methodOf(binding: object, camel: string, snake: string): BindingMethod {
  const isCamel = implementsMethod(binding, camel) || !implementsMethod(binding, snake);
  return (binding as Record<string, BindingMethod>)[isCamel ? camel : snake]!.bind(binding);
}

function nameOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

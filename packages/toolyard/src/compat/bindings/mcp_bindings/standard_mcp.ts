export { StandardMCPBinding } from "../standard-mcp.ts";

/** The class of this module that is the binding. */
export const BindingName = "StandardMCPBinding";

export { RemoteMCPBinding } from "../remote-mcp.ts";

/** The class of this module that is the binding. */
export const BindingName = "RemoteMCPBinding";

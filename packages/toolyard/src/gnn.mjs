export * from "@toolyard/gnn";

-- Decisions are few among the memories of a project, and every start reads the latest of them.
CREATE INDEX memories_that_decide ON memories (project, at) WHERE kind = 5;

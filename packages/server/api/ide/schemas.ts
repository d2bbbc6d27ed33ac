/** Schemas of the editor's calls. */
import { Type } from 'typebox';
import type { WorkspaceUnit } from '../../workspace/compiler.ts';
import { Nullable } from '../../http/schemas.ts';

export const Path = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'Relative to the workspace, folders separated by `/`',
});

export const FileQuery = Type.Object({ path: Path });

export const MatchHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ maxLength: 200, description: 'The tag that came with the file' })),
});

export const CreateHeaders = Type.Object({
  ...MatchHeaders.properties,
  'if-none-match': Type.Optional(Type.String({ maxLength: 200, description: '`*`: there must be no such file yet' })),
});

export const FileWrite = Type.Object(
  { content: Type.String({ description: 'At most 1 MiB in UTF-8' }) },
  { title: 'WorkspaceFileWrite', additionalProperties: false },
);

export const RenameBody = Type.Object(
  { from: Path, to: Path },
  { title: 'WorkspaceRename', additionalProperties: false },
);

export const CompileBody = Type.Object({ path: Path }, { title: 'WorkspaceCompile', additionalProperties: false });

export const FileTag = Type.Object({ path: Type.String(), etag: Type.String() }, { title: 'WorkspaceFileTag' });

export const FileContent = Type.Object(
  { path: Type.String(), content: Type.String(), etag: Type.String() },
  { title: 'WorkspaceFile' },
);

const ProblemInFile = Type.Object(
  {
    path: Type.String(),
    line: Nullable(Type.Integer({ description: 'From 1' })),
    column: Nullable(Type.Integer({ description: 'From 1' })),
    severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
    message: Type.String(),
    hint: Type.String({ description: 'What to do about it; may be empty' }),
  },
  { title: 'WorkspaceProblem' },
);

const Unit = Type.Object(
  {
    source: Type.String({ description: 'The DAG file' }),
    folder: Nullable(Type.String({ description: 'All files in it belong to the project; null for a plain DAG file' })),
    dag_ids: Type.Array(Type.String()),
    problems: Type.Array(ProblemInFile),
  },
  { title: 'WorkspaceUnit' },
);

export const Units = Type.Object({ units: Type.Array(Unit) }, { title: 'WorkspaceUnits' });

export const Workspace = Type.Object(
  {
    name: Type.String(),
    entries: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          kind: Type.Union([Type.Literal('file'), Type.Literal('folder'), Type.Literal('link')]),
        },
        { title: 'WorkspaceEntry' },
      ),
    ),
    is_complete: Type.Boolean({ description: 'False when there are more than are listed' }),
    units: Nullable(Type.Array(Unit)),
    runs_tests: Type.Boolean({ description: 'True in lite: tasks and tests can be run from the editor' }),
  },
  { title: 'Workspace' },
);

export const unitBody = ({ source, folder, dagIds, problems }: WorkspaceUnit) => ({
  source,
  folder,
  dag_ids: [...dagIds],
  problems: [...problems],
});

"""The trusted side: starts workers, serves their calls, holds their deadlines."""

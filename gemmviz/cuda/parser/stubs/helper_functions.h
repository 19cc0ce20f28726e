// Command line, timers and comparisons of NVIDIA's samples.
#pragma once

class StopWatchInterface {};
__GEMMVIZ_ANY(checkCmdLineFlag, bool)
__GEMMVIZ_ANY(getCmdLineArgumentInt, int)
__GEMMVIZ_ANY(getCmdLineArgumentFloat, float)
__GEMMVIZ_ANY(getCmdLineArgumentString, bool)
__GEMMVIZ_ANY(sdkCreateTimer, bool)
__GEMMVIZ_ANY(sdkDeleteTimer, bool)
__GEMMVIZ_ANY(sdkStartTimer, bool)
__GEMMVIZ_ANY(sdkStopTimer, bool)
__GEMMVIZ_ANY(sdkResetTimer, bool)
__GEMMVIZ_ANY(sdkGetTimerValue, float)
__GEMMVIZ_ANY(sdkGetAverageTimerValue, float)
__GEMMVIZ_ANY(sdkCompareL2fe, bool)
__GEMMVIZ_ANY(sdkFindFilePath, char*)
__GEMMVIZ_ANY(sdkLoadPGM, bool)
__GEMMVIZ_ANY(sdkSavePGM, bool)
__GEMMVIZ_ANY(compareData, bool)

//// MatrixMulKernel  problem: square  block: 16, 16  grid: CEIL($N, 16), CEIL($N, 16)  args: $A, $B, $C, $N
__global__ void MatrixMulKernel(float* M, float* N, float* P, int Width) {
  // Calculate the row index of the P element and M
  int Row = blockIdx.y*blockDim.y+threadIdx.y;
  // Calculate the column index of P and N
  int Col = blockIdx.x*blockDim.x+threadIdx.x;
  if ((Row < Width) && (Col < Width)) {
    float Pvalue = 0;
    for (int k = 0; k < Width; ++k) {
      Pvalue += M[Row*Width+k]*N[k*Width+Col];
    }
    P[Row*Width+Col] = Pvalue;
  }
}
//// TiledMulWidth  problem: square  fits: TILE_WIDTH=16  block: TILE_WIDTH, TILE_WIDTH  grid: DIV($N, TILE_WIDTH), DIV($N, TILE_WIDTH)  args: $A, $B, $C, $N
#define TILE_WIDTH 16

__global__ void TiledMulWidth(float* d_M, float* d_N, float* d_P, int Width) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];

  int bx = blockIdx.x; int by = blockIdx.y;
  int tx = threadIdx.x; int ty = threadIdx.y;

  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;

  float Pvalue = 0;
  // Loop over the M and N tiles required to compute P element
  for (int ph = 0; ph < Width/TILE_WIDTH; ++ph) {
    // Collaborative loading of M and N tiles into shared memory
    Mds[ty][tx] = d_M[Row*Width + ph*TILE_WIDTH + tx];
    Nds[ty][tx] = d_N[(ph*TILE_WIDTH + ty)*Width + Col];
    __syncthreads();

    for (int k = 0; k < TILE_WIDTH; ++k) {
      Pvalue += Mds[ty][k] * Nds[k][tx];
    }
    __syncthreads();
  }
  d_P[Row*Width + Col] = Pvalue;
}
//// TiledBounds  problem: gemm  block: TILE_DIM, TILE_DIM, 1  grid: CEIL($N, TILE_DIM), CEIL($M, TILE_DIM), 1  args: $A, $B, $C, $M, $N, $K
#define TILE_DIM 32

__global__ void TiledBounds(float* A, float* B, float* C, int j, int l, int k) {
    // A: j x k, B: k x l, C: j x l
    __shared__ float ds_A[TILE_DIM][TILE_DIM];
    __shared__ float ds_B[TILE_DIM][TILE_DIM];
    unsigned int row = blockIdx.y*TILE_DIM + threadIdx.y;
    unsigned int col = blockIdx.x*TILE_DIM + threadIdx.x;
    float sum = 0.0f;
    for(unsigned int tile = 0; tile < (k - 1)/TILE_DIM + 1; ++tile) {
        if(row < j && tile*TILE_DIM + threadIdx.x < k) {
            ds_A[threadIdx.y][threadIdx.x] = A[row*k + tile*TILE_DIM + threadIdx.x];
        } else {
            ds_A[threadIdx.y][threadIdx.x] = 0.0f;
        }
        if(col < l && tile*TILE_DIM + threadIdx.y < k) {
            ds_B[threadIdx.y][threadIdx.x] = B[(tile*TILE_DIM + threadIdx.y)*l + col];
        } else {
            ds_B[threadIdx.y][threadIdx.x] = 0.0f;
        }
        __syncthreads();
        for(unsigned int i = 0; i < TILE_DIM; ++i) {
            sum += ds_A[threadIdx.y][i]*ds_B[i][threadIdx.x];
        }
        __syncthreads();
    }
    if(row < j && col < l) {
        C[row*l + col] = sum;
    }
}
//// CoarseMul  problem: square  fits: 128=128  block: TILE_WIDTH, TILE_WIDTH  grid: DIV($N, (TILE_WIDTH * COARSE_FACTOR)), DIV($N, TILE_WIDTH)  args: $A, $B, $C, $N
#define TILE_WIDTH 32
#define COARSE_FACTOR 4

__global__ void CoarseMul(float* M, float* N, float* P, int width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x; int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;

    int row = by*TILE_WIDTH + ty;
    int colStart = bx*TILE_WIDTH*COARSE_FACTOR + tx;

    float Pvalue[COARSE_FACTOR];
    for(int c = 0; c < COARSE_FACTOR; ++c) {
        Pvalue[c] = 0.0f;
    }

    for(int ph = 0; ph < width/TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[row*width + ph*TILE_WIDTH + tx];
        for(int c = 0; c < COARSE_FACTOR; ++c) {
            int col = colStart + c*TILE_WIDTH;
            Nds[ty][tx] = N[(ph*TILE_WIDTH + ty)*width + col];
            __syncthreads();
            for(int k = 0; k < TILE_WIDTH; ++k) {
                Pvalue[c] += Mds[ty][k]*Nds[k][tx];
            }
            __syncthreads();
        }
    }
    for(int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c*TILE_WIDTH;
        P[row*width + col] = Pvalue[c];
    }
}
//// dynSharedMul  problem: square  fits: 16=16  block: 16, 16  grid: DIV($N, 16), DIV($N, 16)  args: $A, $B, $C, $N, (unsigned)(16 * 16 * sizeof(float)), (unsigned)(16 * 16 * sizeof(float))  shared: 2 * 16 * 16 * sizeof(float)
__global__ void dynSharedMul(float* M, float* N, float* P, int Width, unsigned Mds_sz, unsigned Nds_sz) {
  extern __shared__ char Mds_Nds[];
  float *Mds = (float *) Mds_Nds;
  float *Nds = (float *) (Mds_Nds + Mds_sz);
  int tile = blockDim.x;
  int Row = blockIdx.y * tile + threadIdx.y;
  int Col = blockIdx.x * tile + threadIdx.x;
  float Pvalue = 0;
  for (int ph = 0; ph < Width / tile; ++ph) {
    Mds[threadIdx.y * tile + threadIdx.x] = M[Row * Width + ph * tile + threadIdx.x];
    Nds[threadIdx.y * tile + threadIdx.x] = N[(ph * tile + threadIdx.y) * Width + Col];
    __syncthreads();
    for (int k = 0; k < tile; ++k)
      Pvalue += Mds[threadIdx.y * tile + k] * Nds[k * tile + threadIdx.x];
    __syncthreads();
  }
  P[Row * Width + Col] = Pvalue;
}
//// CoarsenedSumReductionKernel  problem: sum  fits: 2048=2048  block: BLOCK_DIM  grid: DIV($n, (BLOCK_DIM * 2 * COARSE_FACTOR))  args: $X, $S
#define BLOCK_DIM 256
#define COARSE_FACTOR 4
__global__ void CoarsenedSumReductionKernel(float* input, float* output) {
    __shared__ float input_s[BLOCK_DIM];
    unsigned int segment = COARSE_FACTOR*2*blockDim.x*blockIdx.x;
    unsigned int i = segment + threadIdx.x;
    unsigned int t = threadIdx.x;
    float sum = input[i];
    for(unsigned int tile = 1; tile < COARSE_FACTOR*2; ++tile) {
        sum += input[i + tile*BLOCK_DIM];
    }
    input_s[t] = sum;
    for (unsigned int stride = blockDim.x/2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) {
            input_s[t] += input_s[t + stride];
        }
    }
    if (t == 0) {
        atomicAdd(output, input_s[0]);
    }
}
//// histo_private_kernel  problem: histogram  block: 256  grid: CEIL($n, 1024)  args: $X, $n, $H
#define NUM_BINS 64
__global__ void histo_private_kernel(unsigned int *data, unsigned int length, unsigned int *histo) {
    __shared__ unsigned int histo_s[NUM_BINS];
    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        histo_s[bin] = 0u;
    }
    __syncthreads();
    unsigned int tid = blockIdx.x*blockDim.x + threadIdx.x;
    for(unsigned int i = tid; i < length; i += blockDim.x*gridDim.x) {
        atomicAdd(&(histo_s[data[i] % NUM_BINS]), 1);
    }
    __syncthreads();
    for(unsigned int bin = threadIdx.x; bin < NUM_BINS; bin += blockDim.x) {
        unsigned int binValue = histo_s[bin];
        if(binValue > 0) {
            atomicAdd(&(histo[bin]), binValue);
        }
    }
}
//// convolution_2D_basic  problem: conv2d  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $X, $F, $Y, $R, $N, $M
__global__ void convolution_2D_basic(float *N, float *F, float *P, int r, int width, int height) {
  int outCol = blockIdx.x*blockDim.x + threadIdx.x;
  int outRow = blockIdx.y*blockDim.y + threadIdx.y;
  if (outCol >= width || outRow >= height) return;
  float Pvalue = 0.0f;
  for (int fRow = 0; fRow < 2*r+1; fRow++) {
    for (int fCol = 0; fCol < 2*r+1; fCol++) {
      int inRow = outRow - r + fRow;
      int inCol = outCol - r + fCol;
      if (inRow >= 0 && inRow < height && inCol >= 0 && inCol < width) {
        Pvalue += F[fRow*(2*r+1) + fCol]*N[inRow*width + inCol];
      }
    }
  }
  P[outRow*width + outCol] = Pvalue;
}
